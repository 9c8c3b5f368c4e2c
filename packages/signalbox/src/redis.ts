export {
  type ComposeOptions,
  composeStorage,
  type EphemeralStores,
  type OutageEvent,
  type OutageLogger,
} from '@signalbox/storage/compose'
export { type RedisStoresOptions, redisStores } from '@signalbox/storage-redis'
