export * from '@signalbox/core/resources'
