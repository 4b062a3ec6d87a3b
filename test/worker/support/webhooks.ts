/** Webhooks in a test: a receiver that can be down, and the object that delivers, whose alarm the test rings. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { fakeUpstreams, type FakeUpstream } from './fake-upstreams.ts';
import type { Portico } from './portico.ts';

export const WEBHOOKS = '/api/v1/webhooks';
export const RECEIVER = 'https://hooks.example.com';

export const webhooksObject = () => env.WEBHOOKS.getByName('all');

/** What a receiver got. */
export interface Got {
  id: string;
  headers: Headers;
  text: string;
  body: { type: string; timestamp: string; data: Record<string, unknown> };
}

export interface Receiver {
  /** What it took, in order. */
  got: Got[];
  /** How often it was asked. */
  asked: number;
  /** What it answers where it takes nothing. */
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

/** Make a webhook that is told of everything. */
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

/** Ring the alarm now, whenever it is set. @returns whether one was */
export const ring = (): Promise<boolean> => runDurableObjectAlarm(webhooksObject());

/** When the alarm comes; null where none is set. */
export const alarmAt = (): Promise<number | null> =>
  runInDurableObject(webhooksObject(), (_object, { storage }) => storage.getAlarm());

/** A server's row becomes this, as its monitor writes it. */
export async function setStatus(id: string, status: string): Promise<void> {
  await env.DB.prepare('UPDATE servers SET status = ?, updated_at = ? WHERE id = ?')
    .bind(status, Date.now(), id)
    .run();
}
