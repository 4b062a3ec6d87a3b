/** Common words of tools in Spanish, written for this project. Format: `translations.ts`. */
export const SPANISH = `
delete=elimin-,borr-,suprim- remove=quita-,retir-,elimin- create=crea,crear,cree,creacion
add=agreg-,anade-,anadir list=lista,listar,enumer- show=muestr-,mostrar,ver,ensen-
get=obten-,obtien-,consegu-,consigue find=encontr-,encuentr-,halla-
search=busca-,busque-,busqueda- send=envia,enviar,envie,envio,manda,mandar
post=publica,publicar,publique reply=respond-,respuest-,contest- answer=respond-,respuest-
open=abre,abrir,abra,abiert- close=cierr-,cerrar update=actualiz- change=cambi-,modific-
edit=edita,editar,edite move=mueve,mover,traslad- copy=copia,copiar rename=renombr-
upload=sube,subir,carga,cargar download=descarg- share=compart- read=lee,leer
write=escrib-,redact- start=inici-,arranc-,comenz- stop=deten-,deteng-,parar run=ejecut-
check=comprueb-,comprob-,verific-,revis- set=establec-,configur-,define,definir
enable=activ-,habilit- disable=desactiv-,deshabilit- book=reserv-,libro,libros
cancel=cancel-,anula- schedule=programa,programar,planific- translate=traduc- summarize=resumir,resuma
summary=resumen- convert=convert-,conviert- calculate=calcul- compare=compar- buy=compra-
pay=paga,pagar payment=pago,pagos play=reproduc-,juega,jugar save=guard- invite=invita,invitar
assign=asign- merge=fusion-,combin- connect=conect- subscribe=suscri- publish=publica,publicar
comment=comentari-,comenta- notify=notific-,avisa- count=cuenta,contar,cuantos,cuantas
import=importa- export=exporta- analyze=analiz- generate=gener- test=prueba,pruebas,probar
restore=restaur-,recuper- select=seleccion-,elige,elegir click=clic,pulsa- record=registr-
reset=restablec- approve=aprueb-,aprob- file=archivo-,fichero- folder=carpeta-,directorio-
directory=directorio- message=mensaje- mail=correo- email=correo- calendar=calendario-
event=evento-,cita,citas meeting=reunion- task=tarea- ticket=boleto-,tique-
issue=problema-,incidencia- bug=fallo-,bicho error=error-,fallo- user=usuari-
account=cuenta,cuentas password=contrasen- customer=cliente- order=pedido-,orden,ordenes
invoice=factura- price=precio- product=producto- weather=clima,tiempo,meteorolog-
forecast=pronostic-,prevision- rain=lluvia-,llov- news=noticia- map=mapa,mapas card=tarjeta-
city=ciudad- route=ruta,rutas directions=indicacion-,ruta place=lugar,lugares,sitio flight=vuelo-
image=imagen,imagenes,foto,fotos song=cancion- music=musica- page=pagina- website=sitio,sitios
document=documento- note=nota,notas table=tabla,tablas column=columna- row=fila,filas cell=celda-
database=datos data=dato,datos query=consult- report=informe- project=proyecto- group=grupo-
channel=canal,canales contact=contacto- label=etiquet- branch=rama,ramas repository=repositori-
log=registro- status=estado- deploy=despleg-,despliegue- time=hora,horas,tiempo date=fecha-
week=semana- month=mes,meses year=ano,anos day=dia,dias today=hoy tomorrow=manana
language=idioma-,lengua- word=palabra- question=pregunta- address=direccion,direcciones
phone=telefono- number=numero- key=clave,claves,llave- attachment=adjunt-
reminder=recordator-,recuerd- draft=borrador- trash=papelera settings=ajuste-,configuracion-
permission=permiso- access=acceso- environment=entorno- variable=variables traffic=trafico
window=ventana- button=boton,botones form=formulario- field=campo,campos paper=articulo-
article=articulo- author=autor,autora,autores movie=pelicula- recipe=receta-
stock=accion,acciones,bolsa exchange=cambio rate=tasa,tasas,tipo currency=moneda-,divisa-
balance=saldo- distance=distancia- coordinates=coordenada- new=nuevo,nueva,nuevos,nuevas
latest=ultimo-,ultima- version=versiones member=miembro- employee=emplead-
company=empresa-,compania- internet=red web=red sheet=hoja,hojas country=pais,paises title=titulo-
description=descripcion content=contenido- game=juego-,partido- statistics=estadistic-
transcript=transcri- conversation=conversacion- request=solicit- pull=extraccion team=equipo-
video=videos view=vista,vistas execute=ejecut- insert=inserta- collection=coleccion-
mention=mencion- urgent=urgente- priority=priorid-,urgente- call=llama-,llame trending=tendencia-
fill=rellen- driving=coche-,conducir vacation=vacacion- crash=fallado-,caido viewer=espectador-
link=enlace- weekend=finde
`;
