export * from '@signalbox/router'
