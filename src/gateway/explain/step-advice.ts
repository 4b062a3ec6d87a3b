/** The steps of a decision in their order, and what to change where one refuses. Also for the console and the command line. Pure. */
export const STEP_ADVICE = {
  token_expiry: 'Make another token.',
  scope_list: 'Give the token or its principal the scope tools:read.',
  scope_call: 'Give the token or its principal the scope tools:call.',
  rule: 'Change or delete the rule, or add one that says otherwise.',
  posture: 'Add a rule that allows it to the principal, one of its groups, or everyone.',
  token_servers: 'The token is for some servers only. Make one that is for this server too.',
  token_tools: 'The token is for some tools only. Make one that is for this tool too.',
  token_toolsets: 'Add the tool to a toolset of the token, or make a token without that limit.',
  toolset: 'Add the tool to the toolset, or the principal to those who may use it.',
  account: 'They have to connect an account at the server, or get the tool allowed for it there.',
  server_status: 'See what the server reported last, and connect it again.',
  approval: 'Look at what the server says of the tool now, and approve it.',
  catalog: 'The server has no such tool: check its spelling, or the server itself.',
  circuit:
    'The server failed often, so calls are paused. They go on by themselves when it is well.',
} as const;

export type StepName = keyof typeof STEP_ADVICE;
export const STEPS = Object.keys(STEP_ADVICE) as [StepName, ...StepName[]];
