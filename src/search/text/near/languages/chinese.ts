/** Common words of tools in Chinese, simplified and traditional, written for this project. Format: `translations.ts`. */
export const CHINESE = `
delete=删除,删掉,刪除,删去 remove=移除,去掉,去除,删除 create=创建,建立,新建,創建,制作,开一个,新增
add=添加,加入,增加,新增,加到 list=列出,列表,清单,罗列 show=显示,展示,查看,看看,顯示
get=获取,取得,获得,拿到,獲取,得到 find=查找,找到,寻找,找出,找 search=搜索,搜寻,检索,搜尋,查询,搜
send=发送,寄出,發送,发出,发给,发到,发 post=发布,发表,张贴,發布 reply=回复,答复,回覆,回答
answer=回答,答案 open=打开,开启,打開 close=关闭,關閉,关掉 update=更新,刷新
change=更改,修改,变更,改变 edit=编辑,修改,編輯 move=移动,移到,搬到,移動 copy=复制,拷贝,複製
rename=重命名,改名 upload=上传,上載,上傳 download=下载,下載 share=分享,共享 read=读取,阅读,读,讀取
write=写入,撰写,编写,写,寫 start=启动,开始,開始 stop=停止,终止 run=运行,执行,執行
check=检查,查看,核对,檢查 set=设置,设定,設定,设为 enable=启用,开启,打开 disable=禁用,停用,关闭
book=预订,预定,书籍,订 cancel=取消 schedule=安排,日程,计划 translate=翻译,翻譯
summarize=总结,概括,摘要 summary=摘要,总结 convert=转换,转成,換算,换算 calculate=计算,計算
compare=比较,对比 buy=购买,买 pay=支付,付款 payment=付款,支付 play=播放,玩 save=保存,存储,储存
invite=邀请 assign=分配,指派 merge=合并,合併 connect=连接,連接 subscribe=订阅 publish=发布,公开
comment=评论,留言,批注,評論 notify=通知,提醒 count=统计,计数,多少 import=导入 export=导出
analyze=分析 generate=生成,产生 test=测试 restore=恢复,还原,找回 select=选择,选取 click=点击,单击
record=记录,录制 reset=重置 approve=批准,审批 file=文件,档案 folder=文件夹,目录,資料夾
directory=目录 message=消息,信息,短信,訊息 mail=邮件,郵件,邮箱 email=邮件,电子邮件,邮箱
calendar=日历,日程,行事曆 event=事件,活动,日程 meeting=会议,會議 task=任务,待办,任務
ticket=工单,票 issue=问题,议题 bug=缺陷,漏洞,错误 error=错误,报错,异常 user=用户,用戶
account=账户,账号,帐户,帐号 password=密码 customer=客户,顾客 order=订单,訂單 invoice=发票,账单
price=价格,价钱,價格 product=产品,商品 weather=天气,天氣,气象 forecast=预报,预测,預報 rain=下雨,雨
news=新闻,新聞,资讯 map=地图,地圖 card=卡片,卡 city=城市 route=路线,路線
directions=路线,导航,路线图 place=地点,地方,场所 flight=航班,机票 image=图片,图像,照片,圖片
video=视频,影片,視頻 song=歌曲,歌 music=音乐 playlist=歌单,播放列表 page=页面,网页,頁面
website=网站,網站,站点 document=文档,文件,文檔 note=笔记,备注,便签 table=表格,数据表 column=列,栏
row=行 cell=单元格 database=数据库,資料庫 data=数据,資料 query=查询,查詢 report=报告,报表,報告
project=项目,專案 group=群组,分组,小组 channel=频道,頻道 contact=联系人,聯絡人 label=标签,標籤
tag=标签 branch=分支 repository=仓库,代码库,存储库 code=代码,程式碼 commit=提交 pull=拉取
request=请求 log=日志,日誌 status=状态,狀態 deploy=部署 time=时间,時間,多久 date=日期
week=周,星期,本周 month=月 year=年 day=天 today=今天 tomorrow=明天 language=语言,語言
word=单词,词语 question=问题,提问 address=地址 phone=电话,打电话 call=通话,打电话,调用
number=号码,数字,数量 key=密钥,键 attachment=附件 reminder=提醒 draft=草稿 trash=回收站,垃圾箱
settings=设置,选项 permission=权限 access=访问,权限 environment=环境 variable=变量
traffic=流量,交通 window=窗口 button=按钮 form=表单,表格 field=字段 paper=论文,論文 article=文章
author=作者 movie=电影 recipe=食谱,菜谱 stock=股票,库存 exchange=汇率,交易所 rate=汇率,比率
currency=货币 balance=余额 distance=距离 coordinates=坐标 new=新的,新 latest=最新 version=版本
member=成员 employee=员工 company=公司,企业 internet=互联网,网上,网络 web=网络,网页,网上
sheet=工作表 spreadsheet=电子表格 country=国家 title=标题 description=描述,说明 content=内容
game=游戏,比赛 statistics=统计,统计数据 transcript=字幕,文字记录,转录 conversation=对话,会话
team=团队 view=查看,视图 server=服务器 link=链接 port=端口 public=公开 vacation=休假,假期
priority=优先级,紧急 urgent=紧急,优先级 ship=发货 crash=崩溃 domain=域名 popular=热门 insert=插入
collection=集合 mention=提到,提及 fill=填写 driving=驾车,开车 trending=热门 weekend=周末
potential=潜在 viewer=观众
`;
