/** What the commands that speak to the API over REST have alike: their options, and the API itself. */
import type { Command } from 'commander';
import { addGatewayOptions, readTarget, type GatewayOptions } from '../gateway-options.ts';
import { Api } from './api.ts';

export interface ApiOptions extends GatewayOptions {
  json?: boolean;
}

/** Adds the options of the gateway, and `--json`, to a command that shows what it got. */
export const shown = (command: Command): Command =>
  addGatewayOptions(command).option('--json', 'print JSON for programs');

/** The API that the options name. @throws Failure where the gateway or the token is not named rightly */
export function apiOf(options: GatewayOptions): Api {
  const { url, token } = readTarget(options);
  return new Api(url, token);
}
