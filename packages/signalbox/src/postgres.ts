export {
  type PostgresDatabase,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresSingleClient,
  type PostgresStorageOptions,
  postgresStorage,
} from '@signalbox/storage-sql/postgres'
