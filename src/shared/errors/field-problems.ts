/** Validation errors of fields: one field, or several in one error. */
import { PorticoError, type FieldProblem } from './portico-error.ts';

/** Returns the error for one field. @param fullMessage the whole message, if it is not `field: message` */
export function fieldProblem(
  field: string,
  message: string,
  fullMessage = `${field}: ${message}`,
): PorticoError {
  return new PorticoError('validation_failed', fullMessage, { fields: [{ field, message }] });
}

/** @throws PorticoError `validation_failed` with all the fields, if there is any */
export function refuseFields(fields: readonly FieldProblem[]): void {
  const [first] = fields;
  if (!first) return;
  throw new PorticoError('validation_failed', `${first.field}: ${first.message}`, {
    fields: [...fields],
  });
}
