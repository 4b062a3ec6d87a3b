/** Why a schema cannot be checked; its message says it. */
export class SchemaUnusable extends Error {}
