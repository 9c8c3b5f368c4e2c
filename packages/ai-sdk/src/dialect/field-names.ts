// Internal field names → AI SDK names, for warnings and errors.

export const fieldNames: ReadonlyMap<string, string> = new Map([
  ['model', 'modelId'],
  ['input', 'prompt'],
  ['max_output_tokens', 'maxOutputTokens'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
  ['stop', 'stopSequences'],
  ['tool_choice', 'toolChoice'],
  ['text.format', 'responseFormat'],
  ['reasoning.effort', 'reasoning'],
  ['parallel_tool_calls', 'providerOptions.openai.parallelToolCalls'],
  ['service_tier', 'providerOptions.gateway.serviceTier'],
  ['gateway.models', 'providerOptions.gateway.models'],
  ['gateway.routing', 'providerOptions.gateway'],
  ['gateway.metadata', 'providerOptions.gateway'],
])
