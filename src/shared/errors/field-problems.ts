/** Problems of fields: one, or several at once, told together. */
import { PorticoError, type FieldProblem } from './portico-error.ts';

/** What is wrong with one field. @param told the whole message, where it is not made of the two */
export function fieldProblem(
  field: string,
  message: string,
  told = `${field}: ${message}`,
): PorticoError {
  return new PorticoError('validation_failed', told, { fields: [{ field, message }] });
}

/** @throws PorticoError `validation_failed` with every field, where there is one */
export function refuseFields(fields: readonly FieldProblem[]): void {
  const [first] = fields;
  if (!first) return;
  throw new PorticoError('validation_failed', `${first.field}: ${first.message}`, {
    fields: [...fields],
  });
}
