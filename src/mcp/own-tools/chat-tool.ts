/**
 * Definition of `chat`, the only tool on the endpoints that list it. Decisions about calls are not among its arguments: a model that writes
 * the arguments must not approve calls that its own words caused.
 */
import { createOwnList } from './own-tools.ts';

export const CHAT_NAME = 'chat';

const CHAT = {
  name: CHAT_NAME,
  title: 'Chat',
  description:
    'Say in words what should be done. A model does it with the available tools, and answers; a person may be asked before something is changed.',
  inputSchema: {
    type: 'object',
    properties: {
      message: { type: 'string', description: 'What should be done, in your own words' },
      chat_id: { type: 'string', description: 'Id of an earlier chat, to continue it' },
    },
    required: ['message'],
  },
  outputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      status: { type: 'string', enum: ['running', 'waiting', 'idle'] },
      answer: { type: 'string' },
      stop_reason: { type: ['string', 'null'] },
      problem: { type: 'string' },
      steps: { type: 'integer' },
      calls: { type: 'array', items: { type: 'object' } },
      usage: { type: 'object' },
      pending: { type: 'array', items: { type: 'object' } },
      trace_id: { type: 'string' },
    },
    required: ['id', 'status', 'answer', 'stop_reason', 'steps', 'calls', 'usage'],
  },
  // The tools that the chat calls may change something.
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

export const chatListResult = createOwnList([CHAT]);
