module scenariokit.io/parcels

go 1.26.0
