export * from '@signalbox/core/request'
