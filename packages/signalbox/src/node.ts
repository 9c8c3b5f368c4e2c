export * from '@signalbox/node-http'
