module scenariokit.io/stressors

go 1.26.0
