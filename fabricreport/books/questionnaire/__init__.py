"""The form on which a seller answers our questions: written as a workbook or YAML, and read back as answers."""
