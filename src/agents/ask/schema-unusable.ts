/** Thrown where a schema cannot be checked; the message says why. */
export class SchemaUnusable extends Error {}
