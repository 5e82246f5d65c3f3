"""What trials and campaigns give: findings, verdicts, evidence."""
