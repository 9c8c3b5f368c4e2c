export const knownFields: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['message', ['role', 'content']],
  ['text', ['type', 'text', 'cache_control', 'citations']],
  ['image', ['type', 'source', 'cache_control']],
  ['document', ['type', 'source', 'title', 'citations', 'context', 'cache_control']],
  ['tool_use', ['type', 'id', 'name', 'input', 'cache_control']],
  ['tool_result', ['type', 'tool_use_id', 'content', 'is_error', 'cache_control']],
  ['thinking', ['type', 'thinking', 'signature']],
  ['redacted_thinking', ['type', 'data']],
  // `eager_input_streaming` changes when arguments are streamed, not the arguments.
  ['custom', ['type', 'name', 'description', 'input_schema', 'strict', 'cache_control', 'eager_input_streaming']],
  ['settings of reasoning', ['thinking', 'output_config']],
  ['settings of reasoning.thinking', ['type', 'budget_tokens', 'display']],
  ['settings of reasoning.output_config', ['effort', 'format']],
])
