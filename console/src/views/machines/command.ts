/** The command that makes a machine offer its stdio servers here. Pure. */

/** The whole command line. The token is in the environment, where other users of the machine cannot read it. */
export const toCommand = (origin: string, token: string): string =>
  `PORTICO_CONNECTOR_TOKEN=${token} portico connect --url ${origin} --config mcp.json`;
