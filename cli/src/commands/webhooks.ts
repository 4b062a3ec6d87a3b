/**
 * `portico webhooks`: where events are sent. Adds to the verbs that all records have: add, on, off, rotate, test, deliveries and retry. An
 * address is a secret, so it comes from standard input or the environment, never from an argument; the signing secret is printed only once.
 */
import { Option, type Command } from 'commander';
import type { z } from 'zod';
import type { DeliveryViewSchema } from '../../../src/webhooks/delivery-schema.ts';
import type { TestedSchema, WebhookViewSchema } from '../../../src/webhooks/webhook-schema.ts';
import { again } from '../again.ts';
import { EXIT, Failure } from '../failure.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { readValue } from '../input.ts';
import { visible } from '../output/table.ts';
import { describe } from '../resources/resource.ts';
import { note, writeJson, writeOut, writeTable } from '../terminal.ts';
import { addResource } from './resources.ts';

type View = z.infer<typeof WebhookViewSchema>;
type Delivery = z.infer<typeof DeliveryViewSchema>;
type WithSecret = { webhook: View; secret: string };

interface AddOptions extends Options {
  event?: string[];
  slack?: boolean;
  denialsOver?: string;
  fromEnv?: string;
}

const WEBHOOK = describe<View>({
  name: 'webhooks',
  called: 'webhooks, the receivers of events',
  none: 'no webhooks yet; portico webhooks add NAME',
  columns: [
    ['NAME', ({ name }) => name],
    ['STATE', ({ enabled: isOn }) => (isOn ? 'on' : 'off')],
    ['WAITING', ({ pending }) => String(pending)],
    ['DEAD', ({ dead }) => String(dead)],
    ['FORMAT', ({ format }) => format],
    ['EVENTS', ({ events }) => events.join(' ')],
    ['ORIGIN', ({ origin }) => origin],
  ],
  example: { id: 'on-call' },
  removal: 'Its waiting deliveries are no longer sent.',
});

const ADD_HELP = `
The address is read from standard input or --from-env. The secret with which a
receiver verifies the requests is printed, only this once; Slack needs none.

Examples:
  portico webhooks add on-call --event server.down --event server.up < url.txt
  portico webhooks add team --slack --from-env SLACK_URL`;

const DELIVERIES_HELP = `
Dead deliveries were given up after a day; retry sends one again.

Examples:
  portico webhooks deliveries on-call
  portico webhooks deliveries on-call --state dead`;

const pathOf = (name: string) => `${WEBHOOK.path}/${encodeURIComponent(name)}`;

/** Adds `webhooks`. */
export function addWebhooks(program: Command): void {
  const all = addResource(program, WEBHOOK);
  const add = all
    .command('add <name>')
    .description('Create a webhook and print its secret; it is shown only once.')
    .option('--event <type>', 'event to send (default: all); may be repeated', again)
    .option(
      '--denials-over <calls>',
      'send denials.rate above this many denied calls in ten minutes',
    )
    .option('--slack', 'for an incoming webhook of Slack')
    .option('--from-env <name>', 'environment variable with the address')
    .addHelpText('after', ADD_HELP);
  shown(add).action(addWebhook);
  const verb = (words: string, about: string, example: string) =>
    shown(all.command(words).description(about)).addHelpText(
      'after',
      `\nExample:\n  portico webhooks ${example}`,
    );
  verb('on <webhook>', 'Turn a webhook on.', 'on on-call').action((name, options) =>
    switchTo(name, true, options),
  );
  verb('off <webhook>', 'Turn a webhook off: it gets no events.', 'off on-call').action(
    (name, options) => switchTo(name, false, options),
  );
  verb(
    'rotate <webhook>',
    'Print a new secret, shown only once; for a day both secrets sign.',
    'rotate on-call',
  ).action(rotate);
  verb('test <webhook>', 'Send a test event to a webhook.', 'test on-call').action(test);
  const deliveries = all
    .command('deliveries <webhook>')
    .description('List the deliveries: sent, waiting and given up.')
    .addOption(
      new Option('--state <state>', 'only deliveries in this state').choices([
        'pending',
        'delivered',
        'dead',
      ]),
    )
    .addHelpText('after', DELIVERIES_HELP);
  shown(deliveries).action(listDeliveries);
  verb('retry <webhook> <delivery>', 'Send a dead delivery again.', 'retry on-call ID').action(
    retry,
  );
}

async function addWebhook(name: string, options: AddOptions): Promise<void> {
  const url = await readValue(options.fromEnv);
  const { event: events, slack: isSlack, denialsOver } = options;
  const limit = denialsOver === undefined ? {} : { denials_over: Number(denialsOver) };
  const format = isSlack ? 'slack' : 'portico';
  const made = await apiOf(options).post<WithSecret>(WEBHOOK.path, {
    name,
    url,
    format,
    events,
    ...limit,
  });
  await tellSecret(made, 'is created', options);
}

async function rotate(name: string, options: Options): Promise<void> {
  const made = await apiOf(options).post<WithSecret>(`${pathOf(name)}/rotate`);
  await tellSecret(made, 'has a new secret', options);
}

async function tellSecret(made: WithSecret, what: string, { json }: Options): Promise<void> {
  if (json) return writeJson(made);
  await writeOut(`${made.secret}\n`);
  note(`webhook '${made.webhook.name}' ${what}; the secret is not shown again`);
}

async function switchTo(name: string, isOn: boolean, options: Options): Promise<void> {
  const body = JSON.stringify({ enabled: isOn });
  const view = await apiOf(options).json<View>('PATCH', pathOf(name), body);
  if (options.json) return writeJson(view);
  note(`webhook '${view.name}' is ${isOn ? 'on' : 'off'}`);
}

async function test(name: string, options: Options): Promise<void> {
  const tested = await apiOf(options).post<z.infer<typeof TestedSchema>>(`${pathOf(name)}/test`);
  if (options.json) await writeJson(tested);
  if (!tested.delivered) throw new Failure(`not delivered: ${tested.problem}`, EXIT.failed);
  if (!options.json) note(`delivered; the receiver answered ${tested.status}`);
}

async function listDeliveries(name: string, options: Options & { state?: string }): Promise<void> {
  const { state } = options;
  const filter = state === undefined ? {} : { state };
  const path = `${pathOf(name)}/deliveries`;
  const found = await apiOf(options).list<Delivery>(path, 'deliveries', filter);
  if (options.json) return writeJson(found);
  if (found.length === 0) return note('nothing was sent yet');
  const rows = found.map(one => [
    one.id,
    one.state,
    one.type,
    one.occurred_at,
    String(one.attempts),
    one.problem ?? '',
  ]);
  const heading = ['ID', 'STATE', 'EVENT', 'AT', 'TRIES', 'PROBLEM'];
  await writeTable(heading, rows, { hasStates: true, last: 'wrap' });
}

async function retry(name: string, id: string, options: Options): Promise<void> {
  const path = `${pathOf(name)}/deliveries/${encodeURIComponent(id)}/retry`;
  const view = await apiOf(options).post<Delivery>(path);
  if (options.json) return writeJson(view);
  note(visible(`${view.id} is sent again`));
}
