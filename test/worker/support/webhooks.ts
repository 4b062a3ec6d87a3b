/** Webhooks in a test: a receiver that can be down, and the delivering object, whose alarm the test runs. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { fakeUpstreams, type FakeUpstream } from './fake-upstreams.ts';
import type { Portico } from './portico.ts';

export const WEBHOOKS = '/api/v1/webhooks';
export const RECEIVER = 'https://hooks.example.com';

export const webhooksObject = () => env.WEBHOOKS.getByName('all');

/** A received event. */
export interface Got {
  id: string;
  headers: Headers;
  text: string;
  body: { type: string; timestamp: string; data: Record<string, unknown> };
}

export interface Receiver {
  /** The accepted events, in order. */
  got: Got[];
  /** How many requests it got. */
  asked: number;
  /** Its response if it does not accept an event. */
  refuse: ((got: Got) => Response | undefined) | undefined;
}

/** A receiver at {@link RECEIVER} until the test ends. @param others upstreams by their origins; more may come later */
export function createReceiver(others: Record<string, FakeUpstream> = {}): Receiver {
  const receiver: Receiver = { got: [], asked: 0, refuse: undefined };
  others[RECEIVER] = async request => {
    const text = await request.text();
    const { headers } = request;
    const body = JSON.parse(text) as Got['body'];
    const got = { id: headers.get('webhook-id') ?? '', headers, text, body };
    receiver.asked += 1;
    const refused = receiver.refuse?.(got);
    if (refused) return refused;
    receiver.got.push(got);
    return new Response(null, { status: 204 });
  };
  fakeUpstreams(others);
  return receiver;
}

export interface Webhook {
  id: string;
  secret: string;
}

/** Creates a webhook for all events. */
export async function makeWebhook(
  portico: Portico,
  name: string,
  more: object = {},
): Promise<Webhook> {
  const url = `${RECEIVER}/${name}?key=canary-in-address`;
  const response = await portico.api('POST', WEBHOOKS, { name, url, ...more });
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  const { webhook, secret } = await response.json<{ webhook: { id: string }; secret: string }>();
  return { id: webhook.id, secret };
}

export interface Delivery {
  id: string;
  type: string;
  subject: string;
  state: string;
  attempts: number;
  status: number | null;
  problem: string | null;
}

export async function deliveriesOf(portico: Portico, id: string): Promise<Delivery[]> {
  const response = await portico.api('GET', `${WEBHOOKS}/${id}/deliveries`);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json<{ deliveries: Delivery[] }>()).deliveries;
}

/** Runs the alarm now, whenever it is set. @returns whether one was */
export const ring = (): Promise<boolean> => runDurableObjectAlarm(webhooksObject());

/** When the alarm is due; null if none is set. */
export const alarmAt = (): Promise<number | null> =>
  runInDurableObject(webhooksObject(), (_object, { storage }) => storage.getAlarm());

/** Sets a server's status, as its monitor writes it. */
export async function setStatus(id: string, status: string): Promise<void> {
  await env.DB.prepare('UPDATE servers SET status = ?, updated_at = ? WHERE id = ?')
    .bind(status, Date.now(), id)
    .run();
}
