/** What somebody runs on a machine so that it offers its stdio servers here. Pure. */

/** The command line, whole: the token is in the environment, where other users of the machine cannot read it. */
export const toCommand = (origin: string, token: string): string =>
  `PORTICO_CONNECTOR_TOKEN=${token} portico connect --url ${origin} --config mcp.json`;
