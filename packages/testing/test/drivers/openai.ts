import OpenAI, { APIError, BadRequestError } from 'openai'
import type { Asking, Client, Conversation, Counts, Heard, Picture, Testbed } from './sdk-response.ts'

// Both dialects of the openai package.

const clientOf = ({ secret, url, fetch }: Testbed): OpenAI =>
  new OpenAI({ apiKey: secret, baseURL: `${url}/v1`, maxRetries: 0, ...(fetch && { fetch }) })

const addressOf = ({ type, data }: Picture): string => `data:${type};base64,${data}`
const errors = { any: APIError, badRequest: BadRequestError }
const joined = (texts: readonly (string | null | undefined)[]): string => texts.map(text => text ?? '').join('')

type Response = OpenAI.Responses.Response

const reasons: Readonly<Record<string, Heard['finish']>> = { max_output_tokens: 'length', content_filter: 'filter' }

function readResponse({ output, status, incomplete_details, usage }: Response, told?: string): Heard {
  const parts = output.flatMap(item => (item.type === 'message' ? item.content : []))
  const text = joined(parts.map(part => (part.type === 'output_text' ? part.text : '')))
  const calls = output.flatMap(item =>
    item.type === 'function_call' ? [{ id: item.call_id, name: item.name, arguments: item.arguments }] : [],
  )
  const finish = reasons[incomplete_details?.reason ?? '']
  if (status !== 'completed' && !finish) throw new Error(`It ended as ${status}.`)
  return {
    text,
    told: told ?? text,
    reasoning: joined(
      output.flatMap(item => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : [])).map(part => part.text),
    ),
    calls,
    refusal: joined(parts.map(part => (part.type === 'refusal' ? part.refusal : ''))),
    finish: finish ?? (calls.length > 0 ? 'calls' : 'stop'),
    usage: {
      input: usage?.input_tokens ?? Number.NaN,
      cached: usage?.input_tokens_details.cached_tokens ?? Number.NaN,
      output: usage?.output_tokens ?? Number.NaN,
      reasoning: usage?.output_tokens_details.reasoning_tokens ?? Number.NaN,
    },
  }
}

function converseInResponses(testbed: Testbed): Conversation {
  const client = clientOf(testbed)
  const input: OpenAI.Responses.ResponseInputItem[] = []
  const bodyOf = ({ tools, schema, model = 'test-model', more }: Asking) => ({
    ...more,
    model,
    input,
    ...(tools && { tools: tools.map(tool => ({ type: 'function' as const, ...tool, strict: false })) }),
    ...(schema && { text: { format: { type: 'json_schema' as const, name: 'shape', schema: { ...schema }, strict: true } } }),
  })
  return {
    say(text, picture) {
      const image = picture && { type: 'input_image' as const, image_url: addressOf(picture), detail: 'auto' as const }
      input.push({ role: 'user', content: [{ type: 'input_text', text }, ...(image ? [image] : [])] })
    },
    answer(calls, outputs) {
      for (const [at, { id }] of calls.entries()) input.push({ type: 'function_call_output', call_id: id, output: outputs[at] ?? '' })
    },
    async ask(asking) {
      let told: string | undefined
      let response: Response
      if (asking.stream) {
        told = ''
        const stream = client.responses.stream(bodyOf(asking))
        for await (const event of stream) if (event.type === 'response.output_text.delta') told += event.delta
        response = await stream.finalResponse()
      } else response = await client.responses.create(bodyOf(asking))
      // The package's own types do not let every kind of output item go back in, though the API takes them all.
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]))
      return readResponse(response, told)
    },
  }
}

type Completion = OpenAI.Chat.ChatCompletion

const finishes: Readonly<Record<string, Heard['finish']>> = {
  stop: 'stop',
  tool_calls: 'calls',
  length: 'length',
  content_filter: 'filter',
}

const countsOf = ({ usage }: Completion): Counts => ({
  input: usage?.prompt_tokens ?? Number.NaN,
  cached: usage?.prompt_tokens_details?.cached_tokens ?? Number.NaN,
  output: usage?.completion_tokens ?? Number.NaN,
  reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? Number.NaN,
})

/** A field that the package passes on without knowing it. */
const reasoningIn = (message: object | undefined): string =>
  message && 'reasoning_content' in message ? String(message.reasoning_content ?? '') : ''

function readCompletion(completion: Completion, streamed?: { readonly told: string; readonly reasoning: string }): Heard {
  const [choice] = completion.choices
  if (!choice) throw new Error('There is no choice.')
  const { message, finish_reason } = choice
  const finish = finishes[finish_reason]
  if (!finish) throw new Error(`It ended as ${finish_reason}.`)
  const text = message.content ?? ''
  return {
    text,
    told: text,
    reasoning: reasoningIn(message),
    ...streamed,
    calls: (message.tool_calls ?? []).flatMap(each => (each.type === 'function' ? [{ id: each.id, ...each.function }] : [])),
    refusal: message.refusal ?? '',
    finish,
    usage: countsOf(completion),
  }
}

function converseInChat(testbed: Testbed): Conversation {
  const client = clientOf(testbed)
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = []
  const bodyOf = ({ tools, schema, model = 'test-model', more }: Asking) => ({
    ...more,
    model,
    messages,
    ...(tools && { tools: tools.map(tool => ({ type: 'function' as const, function: tool })) }),
    ...(schema && {
      response_format: { type: 'json_schema' as const, json_schema: { name: 'shape', schema: { ...schema }, strict: true } },
    }),
  })
  const streamed = async (asking: Asking) => {
    const stream = client.chat.completions.stream({ ...bodyOf(asking), stream_options: { include_usage: true } })
    let told = ''
    let reasoning = ''
    for await (const { choices } of stream) {
      told += choices[0]?.delta.content ?? ''
      reasoning += reasoningIn(choices[0]?.delta)
    }
    return { completion: await stream.finalChatCompletion(), pieces: { told, reasoning } }
  }
  return {
    say(text, picture) {
      const image = picture && { type: 'image_url' as const, image_url: { url: addressOf(picture) } }
      messages.push({ role: 'user', content: [{ type: 'text', text }, ...(image ? [image] : [])] })
    },
    answer(calls, outputs) {
      for (const [at, { id }] of calls.entries()) messages.push({ role: 'tool', tool_call_id: id, content: outputs[at] ?? '' })
    },
    async ask(asking) {
      const { completion, pieces } = asking.stream
        ? await streamed(asking)
        : { completion: await client.chat.completions.create(bodyOf(asking)), pieces: undefined }
      if (completion.choices[0]) messages.push(completion.choices[0].message)
      return readCompletion(completion, pieces)
    },
  }
}

export const openaiClients: readonly Client[] = [
  { dialect: 'responses', errors, converse: converseInResponses },
  { dialect: 'chat', errors, converse: converseInChat },
]
