/**
 * The one tool of an endpoint that lists no others but `ask`: how it is described. The list is the same bytes for everybody, always, so
 * that no server's text stands in it.
 */
import { createOwnList } from './own-tools.ts';

export const ASK_NAME = 'ask';

const ASK = {
  name: ASK_NAME,
  title: 'Ask',
  description:
    'Say in words what is wanted. One call of one tool is planned, checked against what the operator allows, and made; or it is said why not.',
  inputSchema: {
    type: 'object',
    properties: {
      request: { type: 'string', description: 'What is wanted, in any words' },
      summarize: {
        type: 'boolean',
        default: false,
        description: 'Also sum up the result, each claim with its evidence',
      },
      dry_run: { type: 'boolean', default: false, description: 'Only plan and judge' },
    },
    required: ['request'],
  },
  outputSchema: {
    type: 'object',
    properties: {
      verdict: {
        type: 'object',
        properties: {
          decision: { type: 'string', enum: ['allowed', 'refused', 'no_tool'] },
          stage: { type: 'string' },
          reason: { type: 'string' },
          message: { type: 'string' },
        },
        required: ['decision', 'stage', 'reason', 'message'],
      },
      plan: { type: 'object' },
      result: { type: 'object' },
      error: { type: 'object' },
      typed: { type: 'object' },
      summary: { type: 'object' },
      trace_id: { type: 'string' },
      usage: { type: 'object' },
    },
    required: ['verdict', 'trace_id', 'usage'],
  },
  // What is called may change something, where the operator allows that.
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

export const askListResult = createOwnList([ASK]);
