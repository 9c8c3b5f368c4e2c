import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { scenario } from './scenario.ts'

console.log(JSON.stringify(await scenario(await sqliteStorage(':memory:'))))
