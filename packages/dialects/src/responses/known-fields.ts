const marks = ['prompt_cache_breakpoint', 'cache_control']

export const knownFields: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['message', ['type', 'id', 'role', 'content', 'phase', 'status']],
  ['function_call', ['type', 'id', 'call_id', 'name', 'namespace', 'arguments', 'status']],
  ['function_call_output', ['type', 'id', 'call_id', 'name', 'output', 'status']],
  ['custom_tool_call', ['type', 'id', 'call_id', 'name', 'namespace', 'input', 'status']],
  ['custom_tool_call_output', ['type', 'id', 'call_id', 'name', 'output', 'status']],
  ['reasoning', ['type', 'id', 'summary', 'content', 'encrypted_content', 'status']],
  ['input_text', ['type', 'text', 'annotations', 'logprobs', ...marks]],
  ['output_text', ['type', 'text', 'annotations', 'logprobs', ...marks]],
  ['input_image', ['type', 'image_url', 'detail', 'file_id', ...marks]],
  ['input_file', ['type', 'file_data', 'file_url', 'file_id', 'filename', 'detail', ...marks]],
  ['input_audio', ['type', 'input_audio', ...marks]],
  ['input_audio.input_audio', ['data', 'format']],
  ['refusal', ['type', 'refusal']],
  ['function', ['type', 'name', 'description', 'parameters', 'strict']],
  ['custom', ['type', 'name', 'description', 'format']],
  ['custom.format', ['type', 'syntax', 'definition']],
  ['settings of reasoning', ['effort', 'summary', 'generate_summary']],
  ['settings of text', ['format', 'verbosity']],
  ['settings of text.format', ['type', 'name', 'schema', 'strict', 'description']],
])
