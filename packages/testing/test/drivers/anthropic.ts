import Anthropic, { APIError, BadRequestError } from '@anthropic-ai/sdk'
import type { Asking, Client, Conversation, Heard, Testbed } from './sdk-response.ts'

// The Messages dialect, as its vendor's package implements it.

const finishes: Readonly<Record<string, Heard['finish']>> = {
  end_turn: 'stop',
  tool_use: 'calls',
  max_tokens: 'length',
  refusal: 'filter',
}

const textOf = ({ content }: Anthropic.Message): string => content.map(block => (block.type === 'text' ? block.text : '')).join('')

function read(message: Anthropic.Message, told = textOf(message)): Heard {
  const { content, stop_reason, stop_details, usage } = message
  const finish = finishes[stop_reason ?? '']
  if (!finish) throw new Error(`It ended as ${stop_reason}.`)
  const cached = usage.cache_read_input_tokens ?? 0
  return {
    text: textOf(message),
    told,
    reasoning: content.map(block => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: content.flatMap(block =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, arguments: JSON.stringify(block.input) }] : [],
    ),
    refusal: stop_details?.explanation ?? '',
    finish,
    usage: {
      input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      cached,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
  }
}

function converse({ secret, url, fetch }: Testbed): Conversation {
  const client = new Anthropic({ apiKey: secret, baseURL: url, maxRetries: 0, ...(fetch && { fetch }) })
  const messages: Anthropic.MessageParam[] = []
  const bodyOf = ({ tools, schema, model = 'test-model', more }: Asking) => ({
    ...more,
    model,
    max_tokens: 1_000,
    messages,
    ...(tools && {
      tools: tools.map(({ name, parameters }) => ({ name, input_schema: { ...parameters, type: 'object' as const } })),
    }),
    ...(schema && { output_config: { format: { type: 'json_schema' as const, schema: { ...schema } } } }),
  })
  const streamed = async (asking: Asking) => {
    const stream = client.messages.stream(bodyOf(asking))
    let told = ''
    for await (const event of stream)
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') told += event.delta.text
    return { message: await stream.finalMessage(), told }
  }
  return {
    say(text, picture) {
      const image = picture && {
        type: 'image' as const,
        source: { type: 'base64' as const, media_type: picture.type, data: picture.data },
      }
      messages.push({ role: 'user', content: [{ type: 'text', text }, ...(image ? [image] : [])] })
    },
    answer(calls, outputs) {
      const results = calls.map(({ id }, at) => ({ type: 'tool_result' as const, tool_use_id: id, content: outputs[at] ?? '' }))
      messages.push({ role: 'user', content: results })
    },
    async ask(asking) {
      const { message, told } = asking.stream
        ? await streamed(asking)
        : { message: await client.messages.create(bodyOf(asking)), told: undefined }
      messages.push({ role: 'assistant', content: message.content })
      return read(message, told)
    },
  }
}

export const anthropicClient: Client = { dialect: 'messages', errors: { any: APIError, badRequest: BadRequestError }, converse }
