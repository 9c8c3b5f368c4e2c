export * from '@signalbox/fetch-handler'
