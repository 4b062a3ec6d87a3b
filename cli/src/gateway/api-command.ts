/** What the commands that use the REST API share: their options, and the API client. */
import type { Command } from 'commander';
import { addGatewayOptions, readTarget, type GatewayOptions } from '../gateway-options.ts';
import { Api } from './api.ts';

export interface ApiOptions extends GatewayOptions {
  json?: boolean;
}

/** Adds the gateway options and `--json` to a command. */
export const shown = (command: Command): Command =>
  addGatewayOptions(command).option('--json', 'print JSON for programs');

/** Returns the API client for the options. @throws Failure where the gateway or the token is invalid */
export function apiOf(options: GatewayOptions): Api {
  const { url, token } = readTarget(options);
  return new Api(url, token);
}
