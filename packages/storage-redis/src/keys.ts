/** The names of keys in Redis. */
export interface KeyNames {
  /** The key of a counter. */
  counter(key: string): string
  /** The key of a set of slots. */
  slots(key: string): string
  /** The keys of the routing state: entries, order, sequence. */
  readonly routing: readonly [string, string, string]
  /** The key of the readers of a conversation. */
  readers(conversation: string): string
  readonly processes: string
  /** A key that a probe writes, in the lane of other keys. */
  probe(tag: string): string
  readonly channel: string
}

/**
 * The part of a key that determines its cluster node: the text before the first `/`, which is the workspace in the gateway's keys. Keys
 * without a `/` are kept together.
 *
 * @example
 * tagOf('ws_1/rpm:key_1:gpt-5') // '_ws_1'
 */
export const tagOf = (key: string): string => {
  const end = key.indexOf('/')
  // Never empty, and without the brace that would end it early.
  return `_${end === -1 ? '' : key.slice(0, end).replaceAll('}', ')')}`
}

/** Keys with `prefix` and the hash tag of their workspace. `keyNames('signalbox:').counter('ws_1/rpm:key_1')` */
export function keyNames(prefix: string): KeyNames {
  const name = (kind: string, tag: string, rest: string): string => `${prefix}${kind}:{${tag}}${rest}`
  const routing = (part: string): string => name('routing', '_', part)
  return {
    counter: key => name('counter', tagOf(key), key),
    slots: key => name('slots', tagOf(key), key),
    routing: [routing('entries'), routing('order'), routing('sequence')],
    readers: conversation => name('readers', readersTag(conversation), conversation),
    processes: name('processes', '_', ''),
    probe: tag => name('probe', tag, ''),
    channel: `${prefix}changes`,
  }
}

/** The hash tag of a conversation, which spreads conversations over the nodes. */
export const readersTag = (conversation: string): string => `_${conversation.replaceAll('}', ')')}`
