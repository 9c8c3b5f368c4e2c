import type { Part } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { DialectName } from '../protocol/wire.ts'

/** What a request asks of an offer. */
export interface Needs {
  readonly stream: boolean
  readonly tools: boolean
  readonly vision: boolean
  /** An image or a file that is only an address. */
  readonly addresses: boolean
  /** A file that is no text: how many tokens it is cannot be told from its bytes. */
  readonly documents: boolean
  readonly structuredOutput: boolean
  readonly jsonMode: boolean
  readonly toolChoiceRequired: boolean
  readonly serviceTier: string | undefined
  /** The dialects of items that only they can carry. */
  readonly itemDialects: readonly DialectName[]
  /** The dialects of tools that only they can carry: preferred, else the tool is left out with a warning. */
  readonly toolDialects: readonly DialectName[]
  readonly inputTokens: number
}

export function needsOf({ prompt, delivery }: InferenceRequest, inputTokens: number): Needs {
  const natives: DialectName[] = []
  let vision = false
  let addresses = false
  let documents = false
  const look = (parts: readonly Part[]): void => {
    for (const part of parts) {
      if (part.type === 'image') vision = true
      if ((part.type === 'image' || part.type === 'file') && !part.url.startsWith('data:')) addresses = true
      if (part.type === 'file' && !part.url.startsWith('data:text/')) documents = true
      if (part.type === 'native') natives.push(part.dialect)
    }
  }
  for (const item of prompt.input) {
    if (item.type === 'native') natives.push(item.dialect)
    else if (item.type === 'message') look(item.content)
    else if (item.type === 'function_call_output' && typeof item.output !== 'string') look(item.output)
  }
  const tools = prompt.tools ?? []
  return {
    stream: delivery === 'stream',
    tools: tools.some(({ type }) => type === 'function'),
    vision,
    addresses,
    documents,
    structuredOutput: prompt.text?.format?.type === 'json_schema',
    jsonMode: prompt.text?.format?.type === 'json_object',
    toolChoiceRequired: prompt.tool_choice === 'required',
    serviceTier: prompt.service_tier,
    itemDialects: natives,
    toolDialects: tools.flatMap(tool => (tool.type === 'native' ? [tool.dialect] : [])),
    inputTokens,
  }
}
