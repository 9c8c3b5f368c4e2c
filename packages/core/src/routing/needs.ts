import { wantsLogprobs } from '../dialects/chat/wire.ts'
import type { Item, Part } from '../protocol/item.ts'
import type { Model } from '../protocol/model.ts'
import type { DataPolicyDemand } from '../protocol/provider-facts.ts'
import type { InferenceRequest, Prompt, RoutingOptions } from '../protocol/request.ts'
import type { DialectName } from '../protocol/wire.ts'

/** What a request asks of an offer. */
export interface Needs {
  readonly stream: boolean
  readonly tools: boolean
  readonly vision: boolean
  /** Sound goes in. */
  readonly audio: boolean
  /** An image or a file that is only an address. */
  readonly addresses: boolean
  /** A file that is only an address. */
  readonly fileAddresses: boolean
  /** A file that is no text: how many tokens it is cannot be told from its bytes. */
  readonly documents: boolean
  readonly structuredOutput: boolean
  readonly jsonMode: boolean
  readonly logprobs: boolean
  /** Thinking is asked for. */
  readonly reasoning: boolean
  readonly toolChoiceRequired: boolean
  readonly serviceTier: string | undefined
  /** The dialects of items that only they can carry. */
  readonly itemDialects: readonly DialectName[]
  /** The dialects of tools that only they can carry: preferred, else the tool is left out with a warning. */
  readonly toolDialects: readonly DialectName[]
  /** As estimated. */
  readonly inputTokens: number
  /** The cap that the caller set. */
  readonly outputTokens: number | undefined
}

/** What is demanded of all requests of a workspace, whatever they say themselves: the fields of its settings that decide who may be asked. */
export interface Demands {
  readonly data_policy_required?: DataPolicyDemand
  /** Provider ids. Absent: all. */
  readonly allowed_providers?: readonly string[]
  readonly blocked_providers?: readonly string[]
  /** Ids or aliases. Absent: all. */
  readonly allowed_models?: readonly string[]
  /** No credential of the operator's. */
  readonly own_keys_only?: boolean
}

/** All that decides who can serve a request. */
export interface Question {
  /** Fields of `routing` that the request does not have: the routing defaults of its workspace say them. */
  readonly defaulted?: ReadonlySet<string> | undefined
  readonly needs: Needs
  readonly routing: RoutingOptions
  readonly demands: Demands
  /** The gateway can read what stands at an address. */
  readonly readsMedia: boolean
  /** Models for which everyone who can be asked speaks `responses`, and nothing else. */
  readonly responsesOnly: ReadonlySet<Model>
}

export function needsOf({ prompt, delivery }: InferenceRequest, inputTokens: number): Needs {
  const tools = prompt.tools ?? []
  return {
    ...contentOf(prompt.input),
    stream: delivery === 'stream',
    tools: tools.some(({ type }) => type === 'function'),
    structuredOutput: prompt.text?.format?.type === 'json_schema',
    jsonMode: prompt.text?.format?.type === 'json_object',
    logprobs: asksForLogprobs(prompt),
    reasoning: prompt.reasoning?.effort !== undefined && prompt.reasoning.effort !== 'none',
    toolChoiceRequired: prompt.tool_choice === 'required',
    serviceTier: prompt.service_tier,
    toolDialects: tools.flatMap(tool => (tool.type === 'native' ? [tool.dialect] : [])),
    inputTokens,
    outputTokens: prompt.max_output_tokens,
  }
}

type Content = Pick<Needs, 'vision' | 'audio' | 'addresses' | 'fileAddresses' | 'documents' | 'itemDialects'>

function contentOf(input: readonly Item[]): Content {
  const itemDialects: DialectName[] = []
  const found = { vision: false, audio: false, addresses: false, fileAddresses: false, documents: false, itemDialects }
  const look = (parts: readonly Part[]): void => {
    for (const part of parts) {
      if (part.type === 'image') found.vision = true
      else if (part.type === 'audio') found.audio = true
      else if (part.type === 'native') itemDialects.push(part.dialect)
      if ((part.type === 'image' || part.type === 'file') && !part.url.startsWith('data:')) found.addresses = true
      if (part.type !== 'file') continue
      if (!part.url.startsWith('data:')) found.fileAddresses = true
      if (!part.url.startsWith('data:text/')) found.documents = true
    }
  }
  for (const item of input) {
    if (item.type === 'native') itemDialects.push(item.dialect)
    else if (item.type === 'message') look(item.content)
    else if (item.type === 'function_call_output' && typeof item.output !== 'string') look(item.output)
  }
  return found
}

const asksForLogprobs = ({ top_logprobs = 0, include = [] }: Prompt): boolean => top_logprobs > 0 || include.includes(wantsLogprobs)
