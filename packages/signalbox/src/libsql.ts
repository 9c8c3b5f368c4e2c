export { type LibsqlAddress, type LibsqlClient, type LibsqlStorageOptions, libsqlStorage } from '@signalbox/storage-sql/libsql'
