import type { Transport, TransportReply } from '@signalbox/dialects/protocol'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { createGateway } from '@signalbox/gateway'
import { compatible } from '@signalbox/providers'
import type { Storage } from '@signalbox/storage'

/** What one runtime made of a whole and a streamed request. Plain JSON: it leaves the runtime as text. */
export interface Found {
  readonly whole: { readonly status: number; readonly requestId: string | null; readonly text: string }
  readonly streamed: {
    readonly status: number
    readonly type: string | null
    readonly requestId: string | null
    readonly events: readonly string[]
    readonly text: string
  }
  readonly refused: { readonly status: number; readonly code: string }
  readonly usage: readonly {
    readonly id: string
    readonly streamed: boolean
    readonly result: string
    readonly inputTokens: number
    readonly outputTokens: number
    readonly cost: number
  }[]
  readonly spent: number
  readonly held: number
}

/** One letter of it takes three bytes, so that a read can end in its middle. */
export const said = 'The points moved — at once.'
export const tokens = { input: 11, output: 7 }

const encoder = new TextEncoder()

/** A provider's HTTP without a network: a whole answer in the Responses dialect, a stream in the chat dialect, cut in odd places. */
const transport: Transport = async ({ url }) =>
  url.endsWith('/responses') ? reply('application/json', wholeAnswer(), 40) : reply('text/event-stream', streamedAnswer(), 17)

function reply(type: string, text: string, pieceBytes: number): TransportReply {
  const bytes = encoder.encode(text)
  let at = 0
  return {
    status: 200,
    header: name => (name === 'content-type' ? type : undefined),
    body: {
      async next() {
        // Bytes come over a network after a while, never at once.
        await new Promise(resolve => setTimeout(resolve, 0))
        if (at >= bytes.length) return { done: true, value: undefined }
        at += pieceBytes
        return { done: false, value: bytes.slice(at - pieceBytes, at) }
      },
      return: async () => ({ done: true, value: undefined }),
    },
  }
}

const wholeAnswer = (): string =>
  JSON.stringify({
    id: 'resp_1',
    object: 'response',
    created_at: 1_770_000_000,
    model: 'scripted',
    status: 'completed',
    output: [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: said, annotations: [] }],
      },
    ],
    usage: { input_tokens: tokens.input, output_tokens: tokens.output, total_tokens: tokens.input + tokens.output },
  })

function streamedAnswer(): string {
  const chunk = (choices: readonly object[], more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_770_000_000, model: 'scripted', choices, ...more })}\n\n`
  const words = said.match(/\S+\s*/g) ?? []
  const usage = { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: tokens.input + tokens.output }
  return [
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
    ...words.map(content => chunk([{ index: 0, delta: { content }, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    chunk([], { usage }),
    'data: [DONE]\n\n',
  ].join('')
}

/** Runs in the runtime under test: a gateway of its own, asked through its fetch handler. */
export async function scenario(storage: Storage): Promise<Found> {
  const price = { input: 1_000_000, output: 2_000_000 }
  const gateway = createGateway({
    providers: [compatible({ id: 'scripted', baseURL: 'https://scripted.example/v1', apiKey: 'sk-scripted', apis: ['responses', 'chat'] })],
    models: (['responses', 'chat'] as const).map(dialect => ({
      id: `by-${dialect}`,
      offers: [{ provider: 'scripted', model: 'scripted', api: dialect, price }],
    })),
    storage,
    transport,
  })
  const workspace = await gateway.workspaces.create({ name: 'Runtimes' })
  await gateway.workspaces(workspace.id).billing.credit({ reference: 'start', amount: 1_000_000 })
  const { secret } = await gateway.workspaces(workspace.id).apiKeys.create({ name: 'test' })
  const handler = toFetchHandler(gateway)
  const ask = (body: object, key = secret): Promise<Response> =>
    handler(
      new Request('http://gateway.example/v1/responses', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ input: 'What moved?', ...body }),
      }),
    )

  const whole = await ask({ model: 'by-responses' })
  const answer = (await whole.json()) as { readonly output: readonly { readonly content: readonly { readonly text: string }[] }[] }
  const streamed = await ask({ model: 'by-chat', stream: true })
  const events = await readEvents(streamed)
  const refused = await ask({ model: 'by-chat' }, 'ak_wrong')
  const refusal = (await refused.json()) as { readonly error: { readonly code: string } }
  const rows = await storage.usage.list({ workspaceId: workspace.id, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10 })
  const { spent, held } = await gateway.workspaces(workspace.id).billing.balance()
  await gateway.close()
  return {
    whole: { status: whole.status, requestId: whole.headers.get('x-request-id'), text: answer.output[0]?.content[0]?.text ?? '' },
    streamed: {
      status: streamed.status,
      type: streamed.headers.get('content-type'),
      requestId: streamed.headers.get('x-request-id'),
      events: events.map(({ type }) => type),
      text: events.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join(''),
    },
    refused: { status: refused.status, code: refusal.error.code },
    usage: rows.map(({ id, streamed: wasStreamed, result, inputTokens, outputTokens, cost }) => ({
      id,
      streamed: wasStreamed,
      result,
      inputTokens,
      outputTokens,
      cost,
    })),
    spent,
    held,
  }
}

/** Reads the stream as a client does, piece by piece. */
async function readEvents(response: Response): Promise<readonly { readonly type: string; readonly delta?: string }[]> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let step = await reader?.read(); step && !step.done; step = await reader?.read()) text += step.value
  return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data ?? '{}'))
}
