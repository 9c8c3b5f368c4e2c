import type { Transport } from '@signalbox/dialects/protocol'
import type { Clock, Ids, Logger } from './ports.ts'

/** The clock of the runtime. A function, like all default ports, so that importing has no side effects. */
export const webClock = (): Clock => ({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (run, milliseconds) => setTimeout(run, milliseconds),
  clearTimeout: timer => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
})

/** Ids and random bytes from Web Crypto. */
export const webIds = (): Ids => {
  const random = (bytes: number): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(bytes))
  return { uuid: () => uuidV7(Date.now(), crypto.randomUUID()), hex: bytes => toHex(random(bytes)), random }
}

/** A UUID of version 7 (RFC 9562): 48 bits of Unix milliseconds, then the random bits of a UUID of version 4. */
const uuidV7 = (now: number, random: string): string => {
  const time = now.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`
}

const toHex = (bytes: Uint8Array): string => {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

/** The part of `node:crypto` that hashes synchronously. */
interface SyncHash {
  hash?(algorithm: 'sha256', text: string): string
}
interface NodeProcess {
  readonly process?: { getBuiltinModule?(name: 'node:crypto'): SyncHash | undefined }
}

/** Undefined if the runtime has none. In the edge runtime of Next.js `getBuiltinModule` exists and throws. */
function syncHash(): SyncHash['hash'] {
  try {
    return (globalThis as NodeProcess).process?.getBuiltinModule?.('node:crypto')?.hash
  } catch {
    return undefined
  }
}

/**
 * SHA-256 as lower-case hex. Uses the synchronous hash of `node:crypto` if available: Web Crypto moves each text to another thread, which
 * costs about thirty times as much.
 */
export async function sha256(text: string): Promise<string> {
  const hash = syncHash()
  if (hash) return hash('sha256', text)
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}

/** The part of Deno that makes the connections of `fetch`. */
interface DenoRuntime {
  readonly Deno?: { createHttpClient?(options: { readonly poolMaxIdlePerHost: number }): object }
}

/**
 * Deno's `fetch` sends a POST again if a reused connection breaks, however long the provider has worked on it (Deno 2.9.6, tried on
 * 2026-11-28; Node 24, Bun 1.4.5 and workerd do not). So it gets a connection for each request.
 */
const ownConnections = (): { readonly client?: object } => {
  const client = (globalThis as DenoRuntime).Deno?.createHttpClient?.({ poolMaxIdlePerHost: 0 })
  return client === undefined ? {} : { client }
}

/** Creates a transport that uses `fetch`. Redirects are returned, not followed: a provider key must not reach another host. */
export const webTransport = (given?: typeof globalThis.fetch): Transport => {
  const fetch = given ?? globalThis.fetch
  const connections = given ? {} : ownConnections()
  return async ({ url, method, headers, body, signal }) => {
    const response = await fetch(url, { method, headers, signal, redirect: 'manual', ...connections, body })
    const reader = response.body?.getReader()
    return {
      status: response.status,
      header: name => response.headers.get(name) ?? undefined,
      body: {
        next: async () => {
          const step = await reader?.read()
          return step === undefined || step.done ? { done: true, value: undefined } : { done: false, value: step.value }
        },
        return: async () => {
          // A reader that is already broken needs no cancelling.
          await reader?.cancel().catch(() => {})
          return { done: true, value: undefined }
        },
      },
    }
  }
}

/** A logger that writes warnings and errors to the console and drops `info`. */
export const consoleLogger = (): Logger => ({
  info: () => {},
  warn: (facts, message) => console.warn(message, facts),
  error: (facts, message) => console.error(message, facts),
})
