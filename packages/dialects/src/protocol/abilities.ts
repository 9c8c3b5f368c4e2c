/** Features that a request may require of an offer. */
export const abilities = [
  'tools',
  'tool_choice_required',
  'parallel_tools',
  'vision',
  'json_mode',
  'structured_output',
  'reasoning',
  'streaming',
  'logprobs',
  'web_search',
  'computer_use',
  'code_interpreter',
  'prompt_caching',
] as const
/** A feature that an offer may support, as listed in `Offer.abilities`. */
export type Ability = (typeof abilities)[number]
