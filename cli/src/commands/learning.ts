/** `portico learning`: deletes what searches learned from use. */
import type { Command } from 'commander';
import { addGatewayOptions, type GatewayOptions } from '../gateway-options.ts';
import { apiOf } from '../gateway/api-command.ts';
import { note } from '../terminal.ts';

const LEARNING = '/api/v1/learning';

const FORGET_HELP = `
It forgets for everybody. If PORTICO_LEARN_FROM_USE is on, the gateway goes on
learning. Searches may still use what it has already read, for up to an hour.

Example:
  portico learning forget`;

/** Adds `learning`. */
export function addLearning(program: Command): void {
  const learning = program
    .command('learning')
    .summary('forget what searches learned from use')
    .description('Manage what searches learned from the calls that followed them.');
  const forget = learning
    .command('forget')
    .description('Forget which tools were called after which searches.')
    .addHelpText('after', FORGET_HELP);
  addGatewayOptions(forget).action(forgetAll);
}

async function forgetAll(options: GatewayOptions): Promise<void> {
  await apiOf(options).withRetries('DELETE', LEARNING);
  note('what was learned from use is forgotten');
}
