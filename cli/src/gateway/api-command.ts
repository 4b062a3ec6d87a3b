/** What the commands that use the REST API share: their options, and the API client. */
import type { Command } from 'commander';
import { EXIT, Failure } from '../failure.ts';
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

/** Adds `--with-token` to a filter; `--token` is the token of the request itself. @throws Failure where it is a token's value */
export function filterByToken(query: URLSearchParams, name: string | undefined): void {
  if (name?.startsWith('portico_')) {
    throw new Failure(
      '--with-token takes the name or id of a token, as in portico token list, not its value',
      EXIT.usage,
    );
  }
  if (name !== undefined) query.set('token', name);
}
