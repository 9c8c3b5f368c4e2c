import { Cluster, type Redis } from 'ioredis'
import type { ResolvedOptions } from './options.ts'

/**
 * Warns of a server that removes keys when its memory is full: a counter that is removed begins anew, and its limit admits too much.
 * No warning without the permission to read the server's state.
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

/** The policy by which a server evicts keys; nothing if it never does. `evictionPolicy('maxmemory:1000\r\nmaxmemory_policy:allkeys-lru')` */
function evictionPolicy(state: string): string | undefined {
  const maxMemory = /^maxmemory:(\d+)/m.exec(state)?.[1]
  const policy = /^maxmemory_policy:([\w-]+)/m.exec(state)?.[1]
  return maxMemory !== undefined && Number(maxMemory) > 0 && policy !== 'noeviction' ? policy : undefined
}
