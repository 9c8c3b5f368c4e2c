import type { Api } from '@signalbox/api'
import { asIterator } from '@signalbox/core/runtime'

/** A workspace with a key that may do everything, and whatever was made in it so far. */
export interface Testbed {
  readonly api: Api
  readonly workspaceId: string
  readonly secret: string | undefined
  /** Ids by the name that paths have for them. */
  readonly made: Map<string, string>
}

export interface Asked {
  readonly body?: unknown
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Called when the body is read. */
  readonly onRead?: () => void
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: ReturnType<typeof JSON.parse>
}

/** `call`: method and path. A body that is a text goes as it is. */
export async function ask({ api, secret }: Pick<Testbed, 'api' | 'secret'>, call: string, asked: Asked = {}): Promise<Answer> {
  const { body = {}, query = '', headers = {}, onRead } = asked
  const [method = '', path = ''] = call.split(' ')
  const all: Record<string, string> = { ...(secret !== undefined && { authorization: `Bearer ${secret}` }), ...headers }
  const reply = await api({
    method,
    path,
    query,
    header: name => all[name],
    async text() {
      onRead?.()
      return { ok: true, text: typeof body === 'string' ? body : JSON.stringify(body) }
    },
    signal: new AbortController().signal,
    ip: '192.0.2.7',
  })
  let text = ''
  if (typeof reply.body === 'string') text = reply.body
  else {
    const chunks = asIterator(reply.body)
    for (let step = await chunks.next(); !step.done; step = await chunks.next()) text += step.value
  }
  const isJson = reply.headers['content-type'] === 'application/json'
  return { status: reply.status, headers: reply.headers, text, json: isJson && text !== '' ? JSON.parse(text) : {} }
}
