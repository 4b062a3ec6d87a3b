-- A budget that is deleted is nobody's any more; one of a principal goes with it.
CREATE TRIGGER owners_of_budgets AFTER DELETE ON budgets
BEGIN
  DELETE FROM record_owners WHERE kind = 'budget' AND record_id = OLD.id;
END;
