import { Cluster, type Redis } from 'ioredis'
import type { ResolvedOptions } from './options.ts'

/**
 * Warns if the server evicts keys when its memory is full: an evicted counter starts again, and its limit admits too much. Does nothing
 * without permission to read the server's state.
 */
export async function warnOfEviction(client: Redis | Cluster, { name, logger }: Pick<ResolvedOptions, 'name' | 'logger'>): Promise<void> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client]
  const states = await Promise.all(nodes.map(node => node.info('memory').catch(() => '')))
  const policy = states.map(evictionPolicy).find(found => found !== undefined)
  if (policy === undefined) return
  logger.warn(
    { server: name, policy },
    'Redis may evict counters and slots when its memory is full, and limits then admit too much. Set `maxmemory-policy noeviction`.',
  )
}

/** The eviction policy of a server; undefined if it never evicts. `evictionPolicy('maxmemory:1000\r\nmaxmemory_policy:allkeys-lru')` */
function evictionPolicy(state: string): string | undefined {
  const maxMemory = /^maxmemory:(\d+)/m.exec(state)?.[1]
  const policy = /^maxmemory_policy:([\w-]+)/m.exec(state)?.[1]
  return maxMemory !== undefined && Number(maxMemory) > 0 && policy !== 'noeviction' ? policy : undefined
}
