-- The details of tasks are deleted when the time is over that people agreed to, oldest first.
CREATE INDEX task_completions_details ON task_completions (created_at) WHERE details IS NOT NULL;
