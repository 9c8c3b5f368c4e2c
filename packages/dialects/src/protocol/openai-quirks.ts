/** How an offer departs from Responses and Chat Completions as most hosts serve them, in what only these two APIs have. */
export interface OpenAIQuirks {
  /** Whether function tools and a reasoning effort exclude each other (Chat Completions). With tools, the effort becomes `none`, with a warning. Default: false. */
  readonly effortWithoutTools?: boolean
  /** Whether tools are supported only through the Responses API. If the provider does not offer it, the offer has no tools. */
  readonly toolsInResponses?: boolean
  /** Whether `tool_choice` may name some of the tools (Chat Completions). Default: false; the other tools are then left out. */
  readonly allowedTools?: boolean
  /** The value that stands for `tool_choice: required`. Default: `required`. */
  readonly requiredToolChoice?: string
  /**
   * Whether the model tells commentary and final answers apart by the `phase` of assistant messages (Responses). Messages that came in
   * another dialect get a derived phase. Default: false.
   */
  readonly messagePhases?: boolean
  /**
   * Body fields with the same name and meaning in Responses and Chat Completions of this provider, besides those of a prompt: the fields of
   * a client of the other API are sent. Default: none, they are left out with a warning.
   */
  readonly sharedFields?: readonly string[]
  /** Whether parts of user and system messages may have a `prompt_cache_breakpoint` (Chat Completions). Default: false. */
  readonly cacheBreakpoints?: boolean
  /**
   * Whether the provider has custom tools of its own, so that a `custom_tool_call` whose name is no custom tool of the request was run by it
   * (Responses). Default: false, the client runs every custom call.
   */
  readonly ownCustomTools?: boolean
  /** Whether earlier reasoning is accepted only with its `encrypted_content`; other reasoning items are left out. Default: false. */
  readonly sealedReasoning?: boolean
}
