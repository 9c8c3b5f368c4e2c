/** Reads HTTP/1.1 requests from a raw socket: enough of the protocol for our own clients, without a real server's tolerance. */
interface RequestHead {
  readonly method: string
  readonly path: string
  /** Headers by lower-case name; repeated ones are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>
}

export interface RequestListener {
  head(head: RequestHead): void
  /** Receives body bytes as they arrive, without framing. */
  data(bytes: Buffer): void
  end(): void
}

type Step = (buffered: Buffer) => { readonly rest: Buffer; readonly next: Step } | undefined

const blankLine = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')

function parseHead(text: string): RequestHead {
  const [start = '', ...lines] = text.split('\r\n')
  const [method = '', path = ''] = start.split(' ')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return { method, path, headers }
}

/** Feed it the socket's data; it calls back once a part is complete. */
export function requestReader(listener: RequestListener): (chunk: Buffer) => void {
  const readHead: Step = buffered => {
    const end = buffered.indexOf(blankLine)
    if (end === -1) return undefined
    const head = parseHead(buffered.subarray(0, end).toString('latin1'))
    listener.head(head)
    const rest = buffered.subarray(end + blankLine.length)
    if (head.headers['transfer-encoding']?.toLowerCase() === 'chunked') return { rest, next: readChunkSize }
    return bodyOf(Number(head.headers['content-length'] ?? 0), rest, over)
  }

  const over = (rest: Buffer) => {
    listener.end()
    return { rest, next: readHead }
  }

  /** Passes on `left` bytes of the body, whatever follows them. */
  const bodyOf = (
    left: number,
    rest: Buffer,
    after: (rest: Buffer) => { readonly rest: Buffer; readonly next: Step },
  ): { readonly rest: Buffer; readonly next: Step } => {
    if (left === 0) return after(rest)
    const next: Step = buffered => {
      if (buffered.length === 0) return undefined
      const taken = buffered.subarray(0, left)
      listener.data(taken)
      return bodyOf(left - taken.length, buffered.subarray(taken.length), after)
    }
    return { rest, next }
  }

  const readChunkSize: Step = buffered => {
    const end = buffered.indexOf(lineEnd)
    if (end === -1) return undefined
    const size = Number.parseInt(buffered.subarray(0, end).toString('latin1'), 16)
    const rest = buffered.subarray(end + lineEnd.length)
    return size === 0 ? { rest, next: readTrailer } : bodyOf(size, rest, afterChunk => ({ rest: afterChunk, next: readChunkEnd }))
  }

  const readChunkEnd: Step = buffered => (buffered.length < 2 ? undefined : { rest: buffered.subarray(2), next: readChunkSize })

  const readTrailer: Step = buffered => {
    const end = buffered.indexOf(lineEnd)
    if (end === -1) return undefined
    const rest = buffered.subarray(end + lineEnd.length)
    return end === 0 ? over(rest) : { rest, next: readTrailer }
  }

  let step = readHead
  let buffered: Buffer = Buffer.alloc(0)
  return chunk => {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
    for (let went = step(buffered); went; went = step(buffered)) {
      step = went.next
      buffered = went.rest
    }
  }
}
