import { isObject, type JsonObject } from '@signalbox/dialects/protocol'
import { type Recording, recordings, replayProvider } from '@signalbox/testing'
import OpenAI from 'openai'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { serving } from './in-process.ts'
import { listening } from './launch.ts'

// The main job: a developer starts the server and points the official package at it; the recorded text of a real provider
// is returned unchanged.

/** One recording holds payloads that are no JSON; they say nothing. */
function read(chunk: string): readonly JsonObject[] {
  try {
    return [JSON.parse(chunk) as JsonObject]
  } catch {
    return []
  }
}

/** The text of a recorded stream, parsed in the simplest way. */
function spoken({ dialect, chunks = [] }: Recording): string {
  const bodies = chunks.flatMap(read)
  if (dialect === 'responses') return bodies.map(({ type, delta }) => (type === 'response.output_text.delta' ? String(delta) : '')).join('')
  return bodies
    .flatMap(({ choices }) => (Array.isArray(choices) ? (choices as readonly JsonObject[]) : []))
    .map(({ delta }) => (isObject(delta) && typeof delta.content === 'string' ? delta.content : ''))
    .join('')
}

const { all } = recordings()
const wanted = all.filter(
  recording => recording.chunks && (recording.dialect === 'chat' || recording.dialect === 'responses') && spoken(recording).length > 100,
)

describe('a recorded response through the standalone server', () => {
  test.for(
    wanted.map((recording, at) => ({
      vendor: recording.vendor,
      name: recording.name,
      recording,
      isProcess: inject('isLongRun') || at === 0,
    })),
  )('$vendor $name: the text equals the recording, streamed to the openai package', async ({ recording, isProcess }) => {
    const provider = await replayProvider(recording)
    onTestFinished(provider.close)
    const offer = {
      provider: 'recorded',
      provider_model_id: 'recorded',
      dialect: recording.dialect,
      context_window: 128_000,
      price: { input: 0.05, output: 0.1 },
    }
    const server = await (isProcess ? listening : serving)({
      variables: { SIGNALBOX_STORAGE: 'memory:' },
      config: {
        catalog: 'none',
        providers: [{ id: 'recorded', speaks: [recording.dialect], base_url: provider.url, api_key: 'sk-recorded' }],
        models: [{ id: 'recorded', offers: [offer] }],
      },
    })
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 })
    let text = ''
    let terminal: string | undefined
    for await (const event of await client.responses.create({ model: 'recorded', input: 'Say it again.', stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta
      else if (event.type === 'response.completed' || event.type === 'response.incomplete') terminal = event.response.output_text
    }
    expect(text).toBe(spoken(recording))
    expect(terminal).toBe(text)
  })
})
