import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { BuiltInDialect } from '@signalbox/dialects'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { answerRequestOf, answerWriters, contentFor, isBuiltInDialect } from '../answers/writers.ts'
import { parsed } from '../parsed.ts'
import { answer, json, type Respond } from './acts.ts'
import { type Exchange, exchangeOn, goneFrom, type MutableSeenRequest, type Pace, type SeenRequest } from './exchange.ts'
import { requestReader } from './reader.ts'

export interface Controller {
  /** Chooses the response to this request, and the fault name to record. */
  choose(seen: SeenRequest): { readonly respond: Respond; readonly fault?: string } | undefined
  readonly pace: Pace
  readonly elsewhere: () => string
}

export interface Listening {
  readonly port: number
  readonly requests: readonly SeenRequest[]
  /** Number of open connections. */
  open(): number
  /** Number of unfinished responses. */
  unfinished(): number
  close(): Promise<void>
}

const dialectAt = (path: string): BuiltInDialect | undefined => {
  const bare = path.split('?')[0]
  return Object.keys(answerWriters).find(
    (name): name is BuiltInDialect =>
      isBuiltInDialect(name) && (answerWriters[name].path === bare || answerWriters[name].addressed?.(path) !== undefined),
  )
}

export const listen = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })

/** A raw TCP server that responds as the controller chooses, one request of a connection after another. */
export async function listenRaw(controller: Controller): Promise<Listening> {
  const book: Book = { requests: [], unfinished: 0 }
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    serve(socket, controller, book)
  })
  const port = await listen(server)
  return {
    port,
    requests: book.requests,
    open: () => sockets.size,
    unfinished: () => book.unfinished,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

interface Book {
  readonly requests: MutableSeenRequest[]
  unfinished: number
}

function serve(socket: Socket, controller: Controller, book: Book): void {
  const openedAt = performance.now()
  const mine: MutableSeenRequest[] = []
  let receiving: MutableSeenRequest | undefined
  let spoiled = false
  const gone = goneFrom(socket)
  let queue = Promise.resolve()

  const bodies = new WeakMap<MutableSeenRequest, Buffer[]>()
  const read = requestReader({
    head(head) {
      receiving = note(head, { openedAt, reused: mine.length > 0 })
      bodies.set(receiving, [])
      mine.push(receiving)
      book.requests.push(receiving)
      if (spoiled) socket.resetAndDestroy()
    },
    data(bytes) {
      if (!receiving) return
      receiving.received += bytes.length
      bodies.get(receiving)?.push(bytes)
    },
    end() {
      const noted = receiving
      if (!noted) return
      noted.body = Buffer.concat(bodies.get(noted) ?? []).toString()
      noted.json = parsed(noted.body)
      noted.bodyAt = performance.now()
      queue = queue.then(() => answerOne(noted))
    },
  })

  let current: MutableSeenRequest | undefined
  const answerOne = async (noted: MutableSeenRequest): Promise<void> => {
    if (socket.destroyed) return
    current = noted
    const chosen = controller.choose(noted)
    if (chosen?.fault !== undefined) noted.fault = chosen.fault
    const spoil = (): void => {
      spoiled = true
    }
    book.unfinished += 1
    await (chosen?.respond ?? answer)({ ...lineFor(noted, controller), ...exchangeOn(socket, gone, noted), spoil })
    book.unfinished -= 1
    current = undefined
  }

  const closed = (): void => {
    for (const noted of mine) noted.closedAt ??= performance.now()
  }
  socket.on('data', read)
  // A client that has ended its half has disconnected: HTTP clients do so only then.
  socket.once('end', () => {
    if (current) current.left = true
    closed()
    socket.end()
  })
  socket.on('error', () => {
    if (current) current.left = true
    closed()
  })
  socket.once('close', closed)
}

function note(
  head: Pick<MutableSeenRequest, 'method' | 'path' | 'headers'>,
  connection: Pick<MutableSeenRequest, 'openedAt' | 'reused'>,
): MutableSeenRequest {
  return {
    ...head,
    ...connection,
    body: '',
    json: undefined,
    received: 0,
    fault: undefined,
    headAt: performance.now(),
    bodyAt: undefined,
    closedAt: undefined,
    left: false,
    written: 0,
    stalled: false,
    stalls: 0,
  }
}

/** The request, from its body and its path. */
export function askedIn({ path, json: body = {} }: SeenRequest): JsonObject {
  const dialect = dialectAt(path)
  return { ...body, ...(dialect && answerWriters[dialect].addressed?.(path)) }
}

function lineFor(noted: MutableSeenRequest, controller: Controller): Omit<Exchange, 'gone' | 'write' | 'wait' | 'fin' | 'reset' | 'spoil'> {
  const body = askedIn(noted)
  const dialect = dialectAt(noted.path) ?? 'responses'
  const writer = answerWriters[dialect]
  const asked = answerRequestOf(body)
  return {
    seen: noted,
    dialect,
    writer,
    request: asked,
    stream: body.stream === true,
    answer: writer.write(contentFor(body), asked),
    pace: controller.pace,
    elsewhere: controller.elsewhere(),
  }
}

/** The response to a request that providers of these dialects cannot understand. */
export const misplaced = (seen: SeenRequest): Respond | undefined => {
  if (dialectAt(seen.path) === undefined)
    return json(404, { error: { message: `No such path: ${seen.path}`, type: 'invalid_request_error', param: null, code: null } })
  if (seen.method !== 'POST')
    return json(405, { error: { message: 'Method not allowed.', type: 'invalid_request_error', param: null, code: null } })
  return seen.json
    ? undefined
    : json(400, { error: { message: 'The body is not a JSON object.', type: 'invalid_request_error', param: null, code: null } })
}
