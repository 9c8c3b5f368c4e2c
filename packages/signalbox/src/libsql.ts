export { type LibsqlAddress, type LibsqlStorageOptions, libsqlStorage } from '@signalbox/storage-sql/libsql'
