export {
  type ComposeOptions,
  composeStorage,
  type EphemeralStores,
  type OutageEvent,
  type OutageLogger,
} from '@signalbox/storage/compose'
export { type RedisConnectionOptions, type RedisStoresOptions, redisStores } from '@signalbox/storage-redis'
