/**
 * The one tool of an endpoint that lists no others but `chat`: how it is described. Decisions about calls are no arguments of it: a model
 * that writes arguments must not approve what its own words brought about.
 */
import { createOwnList } from './own-tools.ts';

export const CHAT_NAME = 'chat';

const CHAT = {
  name: CHAT_NAME,
  title: 'Chat',
  description:
    'Say in words what is to be done. A model does it with the tools there are, and answers; a person may be asked before something is changed.',
  inputSchema: {
    type: 'object',
    properties: {
      message: { type: 'string', description: 'What is to be done, in any words' },
      chat_id: { type: 'string', description: 'Id of an earlier chat, to go on with it' },
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
  // What is called may change something.
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

export const chatListResult = createOwnList([CHAT]);
