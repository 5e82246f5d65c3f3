"""Results of trials and campaigns: findings, verdicts, evidence."""
