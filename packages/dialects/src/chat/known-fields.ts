const marks = ['prompt_cache_breakpoint', 'cache_control']

export const knownFields: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  [
    'message',
    [
      ...['role', 'content', 'refusal', 'annotations', 'images', 'tool_calls', 'tool_call_id', 'function_call'],
      ...['reasoning_content', 'reasoning', 'reasoning_details'],
    ],
  ],
  ['text', ['type', 'text', ...marks]],
  ['image_url', ['type', 'image_url', 'index', ...marks]],
  ['image_url.image_url', ['url', 'detail']],
  ['input_audio', ['type', 'input_audio', ...marks]],
  ['input_audio.input_audio', ['data', 'format']],
  ['file', ['type', 'file', ...marks]],
  ['file.file', ['file_data', 'file_id', 'filename']],
  ['refusal', ['type', 'refusal']],
  ['function', ['type', 'function', ...marks]],
  ['function.function', ['name', 'description', 'parameters', 'strict']],
  ['custom', ['type', 'custom', ...marks]],
  ['custom.custom', ['name', 'description', 'format']],
  ['custom.custom.format', ['type', 'grammar']],
  ['custom.custom.format.grammar', ['syntax', 'definition']],
])
