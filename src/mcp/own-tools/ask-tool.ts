/**
 * Definition of `ask`, the only tool on the endpoints that list it. The list has the same bytes for everybody, always, so that it contains
 * no text of any server.
 */
import { createOwnList } from './own-tools.ts';

export const ASK_NAME = 'ask';

const ASK = {
  name: ASK_NAME,
  title: 'Ask',
  description:
    'Say in words what you want. One call of one tool is planned, checked against what the operator allows, and made; if it is not made, the answer says why.',
  inputSchema: {
    type: 'object',
    properties: {
      request: { type: 'string', description: 'What you want, in your own words' },
      summarize: {
        type: 'boolean',
        default: false,
        description: 'Also sum up the result, each claim with its evidence',
      },
      dry_run: { type: 'boolean', default: false, description: 'Only plan and check' },
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
  // The tool that is called may change something, where the operator allows that.
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

export const askListResult = createOwnList([ASK]);
